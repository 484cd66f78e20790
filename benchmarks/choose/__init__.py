"""How well clusterers find the clusters of streams, with and without the number of them."""

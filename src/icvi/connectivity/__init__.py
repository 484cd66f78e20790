"""Prototypes and their connections: what Conn_Index is read from."""

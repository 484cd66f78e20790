"""A watch as a service: what it tells systemd, and its log as JSON."""

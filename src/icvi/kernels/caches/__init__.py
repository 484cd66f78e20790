"""What readings need besides moments, kept up to date as clusters change."""

"""What changes between two renderings, in meaning."""

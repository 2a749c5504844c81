"""JobSet's webhooks: defaults, creation, change."""

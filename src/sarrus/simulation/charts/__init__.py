"""Steps in minimal coordinates."""

"""The loop of one run: it takes steps, looks for events, keeps records, and can resume from a checkpoint."""

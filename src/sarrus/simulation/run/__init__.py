"""The loop of one run: it calls for steps, watches them, keeps records, and can resume from a checkpoint."""

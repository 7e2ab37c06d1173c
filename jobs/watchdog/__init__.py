"""The watchdog: gives objects back whose word has run out, when everything else of ours may be gone."""

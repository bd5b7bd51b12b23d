CREATE TABLE IF NOT EXISTS easy_cache_outbox (
  message_id VARCHAR(36) NOT NULL,
  seq INTEGER NOT NULL,
  cluster_id VARCHAR(200) NOT NULL,
  entry_key VARBINARY(65535),
  written_at TIMESTAMP(3) WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP(3) NOT NULL,
  due_at TIMESTAMP(3) WITH TIME ZONE NOT NULL,
  open_until TIMESTAMP(3) WITH TIME ZONE,
  delivered SMALLINT DEFAULT 0 NOT NULL,
  PRIMARY KEY (message_id, seq)
);

CREATE INDEX IF NOT EXISTS easy_cache_outbox_due ON easy_cache_outbox (cluster_id, due_at, message_id);

CREATE TABLE IF NOT EXISTS easy_cache_outbox (
  message_id VARCHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  seq INTEGER NOT NULL,
  cluster_id VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  entry_key BLOB,
  written_at DATETIME(3) NOT NULL,
  due_at DATETIME(3) NOT NULL,
  open_until DATETIME(3) NULL,
  delivered SMALLINT DEFAULT 0 NOT NULL,
  PRIMARY KEY (message_id, seq),
  INDEX easy_cache_outbox_due (cluster_id, due_at, message_id)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS delay_queue_handled (
  topic VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  unique_id VARBINARY(1600) NOT NULL,
  expires_at DATETIME(3) NOT NULL,
  PRIMARY KEY (topic, unique_id),
  INDEX delay_queue_handled_expires_at (expires_at)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS delay_queue_outbox (
  seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  queue VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  owner VARCHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  topic VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  message_id VARBINARY(512) NOT NULL,
  nonce BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  is_delay SMALLINT NOT NULL,
  sent_at BIGINT NOT NULL,
  replicas INTEGER NULL,
  replica_timeout INTEGER NULL,
  frame_size INTEGER NOT NULL,
  frame LONGBLOB NOT NULL,
  INDEX delay_queue_outbox_owner (queue, owner, seq),
  INDEX delay_queue_outbox_nonce (nonce)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS delay_queue_outbox_lease (
  queue VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  owner VARCHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  holder VARCHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  renewals BIGINT NOT NULL,
  PRIMARY KEY (queue, owner)
) ENGINE = InnoDB;

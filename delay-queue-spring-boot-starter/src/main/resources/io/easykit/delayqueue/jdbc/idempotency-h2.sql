CREATE TABLE IF NOT EXISTS delay_queue_handled (
  topic VARCHAR(128) NOT NULL,
  unique_id VARBINARY(1600) NOT NULL,
  expires_at TIMESTAMP(3) WITH TIME ZONE NOT NULL,
  PRIMARY KEY (topic, unique_id)
);

CREATE INDEX IF NOT EXISTS delay_queue_handled_expires_at ON delay_queue_handled (expires_at);

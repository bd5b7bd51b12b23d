package io.easykit.delayqueue.store;

import io.easykit.delayqueue.DueTime;

public record Reschedule(Target target, DueTime due) {}

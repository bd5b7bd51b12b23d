package io.easykit.delayqueue.store;

import io.easykit.delayqueue.support.DueTime;

public record Reschedule(Target target, DueTime due) {}

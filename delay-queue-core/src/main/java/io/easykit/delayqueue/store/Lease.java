package io.easykit.delayqueue.store;

import io.easykit.delayqueue.support.NameRules;

/** The right to settle a delivery: its id and its number. */
public record Lease(String id, long number) {
    public Lease {
        NameRules.requireId(id);
    }
}

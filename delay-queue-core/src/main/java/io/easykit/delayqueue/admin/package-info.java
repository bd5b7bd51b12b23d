/**
 * Administration of topics, nodes and messages: pages of messages, single messages, groups of dead letters by their errors,
 * actions on them, and jobs. All of it is for people and their tools; senders and listeners need none of it.
 */
@NullMarked
package io.easykit.delayqueue.admin;

import org.jspecify.annotations.NullMarked;

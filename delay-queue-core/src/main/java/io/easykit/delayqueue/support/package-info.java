/**
 * What the packages of the queue share: bytes and times as values, rules for names, text that is safe in a log, and the transactions
 * of the application. An application that only sends and listens needs none of it.
 */
@NullMarked
package io.easykit.delayqueue.support;

import org.jspecify.annotations.NullMarked;

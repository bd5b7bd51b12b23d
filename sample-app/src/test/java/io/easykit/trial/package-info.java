/**
 * Two nodes of an application that share a database work on a Redis that fails: what they read, send and receive is recorded
 * and judged. {@link io.easykit.trial.Trial} runs it.
 */
package io.easykit.trial;

/**
 * Two nodes of an application with a shared database use a Redis that fails. Their reads, sends and deliveries are
 * recorded and checked. {@link io.easykit.trial.Trial} runs it.
 */
package io.easykit.trial;

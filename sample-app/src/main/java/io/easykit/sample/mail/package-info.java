/** Mails about an order: one after the other, in the order in which they were sent. */
@NullMarked
package io.easykit.sample.mail;

import org.jspecify.annotations.NullMarked;

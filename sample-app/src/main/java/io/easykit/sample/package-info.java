/** A small shop that shows both starters on a real database and a real Redis. */
@NullMarked
package io.easykit.sample;

import org.jspecify.annotations.NullMarked;

/** Tests of cached values: a store in memory, virtual time, assertions and faults. */
@NullMarked
package io.easykit.cache.test;

import org.jspecify.annotations.NullMarked;

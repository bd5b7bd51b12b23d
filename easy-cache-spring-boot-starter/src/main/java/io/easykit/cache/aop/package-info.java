/**
 * Finds the annotations on beans, checks them once, and runs the cache around the methods. Plain Spring AOP: works on
 * class and interface proxies, and does not see a call from inside the bean.
 */
@NullMarked
package io.easykit.cache.aop;

import org.jspecify.annotations.NullMarked;

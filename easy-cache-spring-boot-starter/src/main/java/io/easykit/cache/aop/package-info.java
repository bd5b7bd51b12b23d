/**
 * Finds the annotations on beans, checks them once, and applies the cache to the methods. Uses plain Spring AOP:
 * supports class and interface proxies, and does not intercept calls from inside the bean.
 *
 * <p>No type is API; all may change in any release.
 */
@NullMarked
package io.easykit.cache.aop;

import org.jspecify.annotations.NullMarked;

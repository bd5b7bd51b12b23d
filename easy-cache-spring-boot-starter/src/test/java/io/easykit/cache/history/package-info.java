/** Histories of several processes, and what they prove: {@link io.easykit.cache.history.HistoryRun} makes them. */
package io.easykit.cache.history;

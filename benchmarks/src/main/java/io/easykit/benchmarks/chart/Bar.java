package io.easykit.benchmarks.chart;

/**
 * One bar of a chart.
 *
 * @param text the figure as the table has it
 * @param isOwn whether easykit was measured
 */
record Bar(String label, double value, String text, boolean isOwn) {}

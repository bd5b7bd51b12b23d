package io.easykit.benchmarks.chart;

import java.util.List;
import java.util.Locale;

/** Horizontal bars as an SVG that is readable on light and on dark pages. */
final class BarChart {

    private static final int WIDTH = 760;
    private static final int BARS_FROM = 220;
    private static final int LONGEST_BAR = 330;
    private static final int ROW = 26;
    private static final int TOP = 44;

    private BarChart() {}

    /** @param title what the bars are, with its unit and which direction is better */
    static String svg(String title, List<Bar> bars) {
        double greatest = bars.stream().mapToDouble(Bar::value).max().orElse(1);
        StringBuilder svg = new StringBuilder();
        svg.append(
                """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d" role="img">
                <title>%3$s</title>
                <style>
                text { font: 13px system-ui, sans-serif; fill: #1f2328 }
                .title { font-weight: 600 }
                .own { fill: #1a7f64 }
                .other { fill: #9aa4ae }
                @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .own { fill: #3fb68b } .other { fill: #6e7781 } }
                </style>
                <text class="title" x="8" y="22">%3$s</text>
                """
                        .formatted(WIDTH, TOP + ROW * bars.size() + 6, escaped(title)));
        for (int i = 0; i < bars.size(); i++) {
            svg.append(row(bars.get(i), TOP + ROW * i, greatest));
        }
        return svg.append("</svg>\n").toString();
    }

    private static String row(Bar bar, int y, double greatest) {
        double length = Math.max(1, bar.value() / greatest * LONGEST_BAR);
        return String.format(
                Locale.ROOT,
                """
                <text x="%d" y="%d" text-anchor="end">%s</text>
                <rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>
                <text x="%.1f" y="%d">%s</text>
                """,
                BARS_FROM - 8,
                y + 15,
                escaped(bar.label()),
                bar.isOwn() ? "own" : "other",
                BARS_FROM,
                y + 2,
                length,
                ROW - 8,
                BARS_FROM + length + 6,
                y + 15,
                escaped(bar.text()));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}

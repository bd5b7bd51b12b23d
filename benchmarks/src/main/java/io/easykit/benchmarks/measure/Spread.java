package io.easykit.benchmarks.measure;

import java.util.Collection;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Several measurements of one figure: their median, minimum and maximum. */
public record Spread(double median, double least, double greatest) {

    public static Spread of(Collection<Double> values) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        int middle = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Spread(median, sorted[0], sorted[sorted.length - 1]);
    }

    /** Returns the spread of one figure of several results. */
    public static <T> Spread of(Collection<T> results, ToDoubleFunction<T> figure) {
        return of(results.stream().mapToDouble(figure).boxed().toList());
    }

    /** Returns for example {@code 3.10 (2.90 to 3.30)}, or only the median if all are equal. */
    public String text(int decimals) {
        String number = "%,." + decimals + "f";
        if (least == greatest) {
            return String.format(Locale.ROOT, number, median);
        }
        return String.format(Locale.ROOT, number + " (" + number + " to " + number + ")", median, least, greatest);
    }
}

package io.easykit.console.autoconfigure;

import io.easykit.boot.CheckedSettings;
import io.easykit.boot.Problem;
import io.easykit.boot.SettingChecks;
import io.easykit.console.ConsoleAccess.ShowValues;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the console.
 *
 * @param enabled Whether the console is served.
 * @param path Path of the console, where the actuator is served: on the management port, and below its base path.
 * @param access Whether users may change things (unrestricted), or only view them (read-only).
 * @param roles Roles of Spring Security that may use the console.
 * @param openTo Who may use the console if the application has no Spring Security: nobody, loopback (this machine only)
 *     or everyone. With Spring Security it has no effect.
 * @param origins Origins whose pages may read and change things, besides the console's own, for example that of a proxy
 *     that changes the host. A page of another origin also needs the application's CORS configuration. By default there are
 *     none.
 * @param showValues Who sees bodies and header values: when-authorized (operators, also while access is read-only),
 *     always (all users) or never.
 * @param edit Whether operators may edit headers and bodies of dead letters before they send them back.
 * @param label Word for the environment that each page shows, for example PROD. By default there is none.
 * @param color Color of the label. By default there is none.
 * @param links Links to other consoles, each with a label and an address. By default there are none.
 * @param auditSize Number of audit entries that are kept in Redis for the page, from 0 to 100000. The log has all of
 *     them.
 */
@ConfigurationProperties(prefix = "easykit.console", ignoreUnknownFields = false)
record ConsoleProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("/easykit") String path,
        @DefaultValue("unrestricted") Access access,
        @NestedConfigurationProperty @DefaultValue Roles roles,
        @DefaultValue("nobody") OpenTo openTo,
        @DefaultValue List<String> origins,
        @DefaultValue("when-authorized") ShowValues showValues,
        @DefaultValue("false") boolean edit,
        @Nullable String label,
        @Nullable Color color,
        @DefaultValue List<Link> links,
        @DefaultValue("1000") int auditSize)
        implements CheckedSettings {

    private static final int MOST_ENTRIES = 100_000;
    private static final int MOST_CHARACTERS = 30;

    /** Permitted actions. */
    enum Access {
        UNRESTRICTED,
        READ_ONLY
    }

    /** Users without Spring Security. */
    enum OpenTo {
        NOBODY,
        LOOPBACK,
        EVERYONE
    }

    /** Colors of the label. */
    enum Color {
        RED("firebrick"),
        ORANGE("sienna"),
        YELLOW("#826200"),
        GREEN("darkgreen"),
        BLUE("mediumblue"),
        PURPLE("rebeccapurple"),
        GRAY("dimgray");

        private final String css;

        Color(String css) {
            this.css = css;
        }

        /** A shade on which white text is readable. */
        String css() {
            return css;
        }
    }

    /**
     * Roles of Spring Security, without the prefix ROLE_.
     *
     * @param view Role that may view the pages.
     * @param operate Role that may view the pages and change things.
     */
    record Roles(@DefaultValue("EASYKIT_VIEW") String view, @DefaultValue("EASYKIT_OPERATE") String operate) {}

    /**
     * A link to another console.
     *
     * @param label Text of the link.
     * @param href Address, with https or http.
     */
    record Link(@DefaultValue("") String label, @DefaultValue("") String href) {}

    @Override
    public List<Problem> problems() {
        SettingChecks checks = new SettingChecks("easykit.console.");
        checks.that(
                path.matches("(/[A-Za-z0-9._~-]+)+"),
                "path",
                "'" + path + "'",
                "Begin with a slash and do not end with one, for example /easykit.");
        checks.that(!roles.view().isBlank(), "roles.view", "empty", "Name a role, for example EASYKIT_VIEW.");
        checks.that(!roles.operate().isBlank(), "roles.operate", "empty", "Name a role, for example EASYKIT_OPERATE.");
        checks.that(
                origins.stream()
                        .allMatch(origin ->
                                origin.matches("https?://([^/?#@*:\\[\\]\\s]+|\\[[0-9A-Fa-f:.]+])(:[1-9]\\d{0,4})?")),
                "origins",
                origins,
                "Write each as scheme and host, with the port if it is not the usual one, for example https://ops.example.com.");
        checks.that(
                label == null || label.length() <= MOST_CHARACTERS,
                "label",
                "'" + label + "'",
                "Choose at most " + MOST_CHARACTERS + " characters, for example PROD.");
        checks.that(
                links.stream()
                        .allMatch(link -> !link.label().isBlank() && link.href().matches("https?://\\S+")),
                "links",
                links,
                "Give each a label and an address that begins with https:// or http://.");
        checks.that(
                auditSize >= 0 && auditSize <= MOST_ENTRIES,
                "audit-size",
                auditSize,
                "Choose 0 to " + MOST_ENTRIES + ", for example 1000.");
        return checks.problems();
    }
}

package io.easykit.console;

import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Decides about each user: to view, to change things, or neither. The rules hold in the console itself, so an application that
 * permits its path opens nothing.
 *
 * @param mode        source of the decision
 * @param viewRole    role that may view the pages
 * @param operateRole role that may also change things
 * @param readOnly    whether all changes are refused
 * @param showValues  users to whom bodies and header values are shown
 * @param origins     origins whose pages may read and change things, besides the console's own
 */
public record ConsoleAccess(
        Mode mode, String viewRole, String operateRole, boolean readOnly, ShowValues showValues, List<String> origins) {

    /** Header that a change has to carry. A page of another origin cannot send it without permission. */
    static final String CHANGE_HEADER = "X-Easykit-Console";

    private static final Set<String> LOOPBACK_HOSTS = Set.of("localhost", "127.0.0.1", "[::1]");

    /** Without a user. {@link URI#getHost} is null for some hosts of a network, such as my_host and host.1. */
    private static final Pattern AUTHORITY = Pattern.compile("(\\[[^]]+]|[^:@]+)(?::(\\d*))?");

    private static final List<String> PROXY_HEADERS = List.of(
            "Forwarded",
            "X-Forwarded-For",
            "X-Forwarded-Host",
            "X-Forwarded-Proto",
            "X-Forwarded-Port",
            "X-Forwarded-Prefix",
            "X-Forwarded-Server",
            "X-Forwarded-Ssl",
            "X-Real-IP",
            "Via");

    /** Source of the decision about access. */
    public enum Mode {
        /** Spring Security: the user's roles. */
        ROLES,
        /** No login; requests from this machine only. */
        LOOPBACK,
        /** No login; all requests. */
        EVERYONE
    }

    /** Users to whom bodies and header values are shown. */
    public enum ShowValues {
        /** Operators, also while all changes are refused. */
        WHEN_AUTHORIZED,
        /** All users. */
        ALWAYS,
        /** No user. */
        NEVER
    }

    /** Returns the user of a request, or refuses it. */
    Caller admit(ConsoleRequest request) {
        boolean operates =
                switch (mode) {
                    case ROLES -> hasRole(request);
                    case LOOPBACK -> isLoopback(request);
                    case EVERYONE -> true;
                };
        boolean sees = showValues == ShowValues.ALWAYS || (showValues == ShowValues.WHEN_AUTHORIZED && operates);
        return new Caller(Caller.nameOf(request), request.remoteAddress(), operates, operates && !readOnly, sees);
    }

    private boolean hasRole(ConsoleRequest request) {
        if (request.hasRole().test(operateRole)) {
            return true;
        }
        if (request.hasRole().test(viewRole)) {
            return false;
        }
        throw new Refusal(
                403,
                "The console needs the role " + viewRole + " to look, or " + operateRole + " to change things.",
                "Give the user one of these roles, or name other roles in easykit.console.roles.");
    }

    private static boolean isLoopback(ConsoleRequest request) {
        String host = request.header("Host");
        if (!isLoopbackAddress(request.remoteAddress())) {
            throw notLoopback("it comes from another machine");
        }
        if (host == null || !LOOPBACK_HOSTS.contains(withoutPort(host))) {
            throw notLoopback("its Host is not localhost, 127.0.0.1 or [::1]");
        }
        for (String header : PROXY_HEADERS) {
            if (request.header(header) != null) {
                throw notLoopback("a proxy has forwarded it (" + header + ")");
            }
        }
        return true;
    }

    private static Refusal notLoopback(String why) {
        return new Refusal(
                403,
                "The console is open to this machine only (easykit.console.open-to is loopback), and the request is refused: "
                        + why + ".",
                "Open it on the machine itself under http://localhost, or add Spring Security.");
    }

    private static boolean isLoopbackAddress(String address) {
        return address.startsWith("127.") || address.equals("::1") || address.equals("0:0:0:0:0:0:0:1");
    }

    private static String withoutPort(String host) {
        return host.toLowerCase(Locale.ROOT).replaceFirst(":\\d*$", "");
    }

    /** Refuses a change that this user may not make, or that another page may have sent. */
    void requireChange(ConsoleRequest request, Caller caller) {
        if (readOnly) {
            throw new Refusal(
                    403,
                    "Nobody may change things here: easykit.console.access is read-only.",
                    "Use another node, or set easykit.console.access=unrestricted.");
        }
        if (!caller.operates()) {
            throw new Refusal(
                    403,
                    "Changes need the role " + operateRole + ".",
                    "Give the user this role, or name another one in easykit.console.roles.operate.");
        }
        String type = request.header("Content-Type");
        if (type == null || !type.toLowerCase(Locale.ROOT).startsWith("application/json")) {
            throw new Refusal(415, "A change is not application/json.", "Send it as application/json.");
        }
        if (!"1".equals(request.header(CHANGE_HEADER))) {
            throw crossSite("The header " + CHANGE_HEADER + ": 1 is missing.");
        }
        requireOwnPage(request);
    }

    private void requireOwnPage(ConsoleRequest request) {
        String origin = request.header("Origin");
        if (isListed(origin)) {
            return;
        }
        String site = request.header("Sec-Fetch-Site");
        if (site != null) {
            if (!site.equals("same-origin")) {
                throw crossSite("Sec-Fetch-Site is " + printable(site) + ", not same-origin.");
            }
            return;
        }
        if (origin != null && !isOwn(origin, request)) {
            throw crossSite("The origin " + printable(origin) + " is not that of the console.");
        }
    }

    /**
     * Refuses a read that another page has sent. A CORS rule of the application may show its script the reply. Without a script it
     * could keep the console busy, and its lines in the audit would push out those of changes.
     */
    void requireOwnRead(ConsoleRequest request) {
        if (request.header("Origin") != null) {
            requireOwnPage(request);
            return;
        }
        String site = request.header("Sec-Fetch-Site");
        if ("cross-site".equals(site) || "same-site".equals(site)) {
            throw new Refusal(
                    403,
                    "The request may come from another page: Sec-Fetch-Site is " + site + ".",
                    "Open it on the console's own page. A page of easykit.console.origins may fetch it, but not link to it.");
        }
    }

    private boolean isListed(@Nullable String origin) {
        return origin != null && origins.stream().anyMatch(listed -> isSame(listed, origin));
    }

    /** Hosts are compared without regard to case, and ports with the default of the scheme, which browsers leave out. */
    private static boolean isSame(String listed, String origin) {
        String authority = authority(listed);
        return scheme(listed).equals(scheme(origin)) && authority != null && authority.equals(authority(origin));
    }

    private static String scheme(String origin) {
        return origin.substring(0, Math.max(0, origin.indexOf(':')));
    }

    /** By the Host, which a script cannot set. It could set a header of a proxy, with which Jetty may replace the Host (docs/console.md). */
    private static boolean isOwn(String origin, ConsoleRequest request) {
        String scheme = origin.startsWith("https:") ? "https" : "http";
        String authority = authority(origin);
        String host = request.header("Host");
        return authority != null && host != null && authority.equals(authority(scheme + "://" + host));
    }

    /** Host and port of an address, with the default port if it names none. */
    private static @Nullable String authority(String address) {
        try {
            URI uri = URI.create(address);
            int defaultPort = "https".equals(uri.getScheme()) ? 443 : 80;
            String text = uri.getRawAuthority();
            Matcher authority = AUTHORITY.matcher(text == null ? "" : text);
            if (!authority.matches()) {
                return null;
            }
            String port = authority.group(2);
            boolean isDefault = port == null || port.isEmpty();
            return authority.group(1).toLowerCase(Locale.ROOT) + ":" + (isDefault ? defaultPort : port);
        } catch (IllegalArgumentException invalid) {
            return null;
        }
    }

    private static Refusal crossSite(String reason) {
        return new Refusal(
                403,
                "The request may come from another page: " + reason,
                "Use the console's own page, or name the origin of the page in easykit.console.origins.");
    }

    private static String printable(String text) {
        String plain = text.replaceAll("[^\\x20-\\x7e]", "?");
        return plain.length() <= 100 ? plain : plain.substring(0, 100);
    }
}

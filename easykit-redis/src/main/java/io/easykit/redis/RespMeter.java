package io.easykit.redis;

import io.netty.buffer.ByteBuf;

/**
 * Parses one direction of a connection just enough to count messages and to detect a long text (a bulk string) in
 * transit. Works for requests and replies, in versions 2 and 3 of the protocol. Runs on the connection's event loop.
 */
final class RespMeter {

    private static final int LINE_TYPE = 0;
    private static final int LINE_REST = 1;
    private static final int TEXT = 2;
    private static final int LINE_END = 2;

    private int state = LINE_TYPE;
    private byte type;
    private long number;
    private boolean negative;

    /** Missing bytes of the present text, including its line end. */
    private long textLeft;

    private long textLength;
    private long longestText;

    /** Missing elements of the present message; zero between two messages. */
    private long elementsLeft;

    private boolean push;
    private long messages;

    /** Number of complete messages. Push messages do not count. */
    long messages() {
        return messages;
    }

    /** Length of the text that has passed in part; zero if there is none. */
    long textOnItsWay() {
        return state == TEXT ? textLength : 0;
    }

    /** Length of the longest text that began in the latest buffer. */
    long longestText() {
        return longestText;
    }

    /** Parses the buffer without changing its indexes. */
    void pass(ByteBuf bytes) {
        longestText = 0;
        int at = bytes.readerIndex();
        int end = bytes.writerIndex();
        while (at < end) {
            if (state == TEXT) {
                int part = (int) Math.min(textLeft, end - at);
                textLeft -= part;
                at += part;
                if (textLeft == 0) {
                    elementDone();
                }
            } else {
                line(bytes.getByte(at++));
            }
        }
    }

    private void line(byte next) {
        if (state == LINE_TYPE) {
            type = next;
            number = 0;
            negative = false;
            state = LINE_REST;
            if (elementsLeft == 0) {
                elementsLeft = 1;
                push = type == '>';
            }
        } else if (next == '\n') {
            lineDone();
        } else if (next >= '0' && next <= '9') {
            number = number * 10 + next - '0';
        } else if (next == '-') {
            negative = true;
        }
    }

    private void lineDone() {
        long count = negative ? 0 : number;
        switch (type) {
            case '$', '=', '!' -> {
                if (!negative) {
                    textLength = number;
                    longestText = Math.max(longestText, number);
                    textLeft = number + LINE_END;
                    state = TEXT;
                    return;
                }
            }
            case '*', '~', '>' -> elementsLeft += count;
            case '%' -> elementsLeft += 2 * count;
            case '|' -> elementsLeft += 2 * count + 1;
            default -> {
                // A complete line: a number, a short text or an error.
            }
        }
        elementDone();
    }

    private void elementDone() {
        state = LINE_TYPE;
        elementsLeft--;
        if (elementsLeft == 0 && !push) {
            messages++;
        }
    }
}

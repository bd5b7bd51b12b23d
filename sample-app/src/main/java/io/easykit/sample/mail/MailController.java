package io.easykit.sample.mail;

import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/mails")
class MailController {

    private final MailRepository mails;

    MailController(MailRepository mails) {
        this.mails = mails;
    }

    /** Returns the mails about an order that were delivered, the first one first. */
    @GetMapping("/{orderId}")
    List<String> about(@PathVariable String orderId) {
        return mails.about(orderId);
    }
}

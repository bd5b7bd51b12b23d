package io.easykit.example.offers;

import io.easykit.delayqueue.annotation.DelayListener;
import org.springframework.stereotype.Service;

@Service
class Ends {

    private final Offers offers;

    Ends(Offers offers) {
        this.offers = offers;
    }

    @DelayListener(topic = "offer-end")
    void end(String article) {
        offers.end(article);
    }
}

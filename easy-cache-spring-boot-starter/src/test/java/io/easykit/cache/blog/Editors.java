package io.easykit.cache.blog;

import io.easykit.cache.blog.Articles.Headline;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Requests of editors over HTTP. Each method that edits also reads the cache in the same request. */
@RestController
class Editors {

    private final Articles articles;
    private final ArticleRepository repository;

    Editors(Articles articles, ArticleRepository repository) {
        this.articles = articles;
        this.repository = repository;
    }

    @GetMapping("/{consistency}/{id}")
    String read(@PathVariable String consistency, @PathVariable long id) {
        return text(find(consistency, id));
    }

    /** Reads the entity first, as a controller with a domain object for its argument does. */
    @GetMapping("/{consistency}/{id}/beside-entity")
    String readBesideEntity(@PathVariable String consistency, @PathVariable long id) {
        var unused = repository.findById(id).orElseThrow();
        return text(find(consistency, id));
    }

    @PostMapping("/{consistency}/{id}/saved")
    long save(@PathVariable String consistency, @PathVariable long id) {
        return articles.revise(id);
    }

    /** The entity is changed before it is checked, and never saved. */
    @PostMapping("/{consistency}/{id}/rejected")
    String reject(@PathVariable String consistency, @PathVariable long id) {
        Article article = repository.findById(id).orElseThrow();
        article.setTitle("rejected");
        find(consistency, id);
        throw new ResponseStatusException(HttpStatus.BAD_REQUEST);
    }

    @PostMapping("/{consistency}/{id}/rolled-back")
    String rollBack(@PathVariable String consistency, @PathVariable long id) {
        try {
            articles.reviseAndFail(id);
        } catch (IllegalStateException rolledBack) {
            find(consistency, id);
        }
        throw new ResponseStatusException(HttpStatus.CONFLICT);
    }

    private Headline find(String consistency, long id) {
        return "cp".equals(consistency) ? articles.strong(id) : articles.eventual(id);
    }

    private static String text(Headline headline) {
        return headline.revision() + ":" + headline.title();
    }
}

package io.easykit.cache.blog;

import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.util.ArrayList;
import java.util.List;

/** A row edited by requests. The title belongs to the revision, unless the edit was never committed. */
@Entity
public class Article {

    @Id
    private Long id;

    private long revision;
    private String title;

    @ElementCollection
    private List<String> tags = new ArrayList<>();

    protected Article() {}

    Article(Long id) {
        this.id = id;
        this.title = titleOf(0);
    }

    static String titleOf(long revision) {
        return "revision " + revision;
    }

    public Long getId() {
        return id;
    }

    public long getRevision() {
        return revision;
    }

    public String getTitle() {
        return title;
    }

    List<String> tags() {
        return tags;
    }

    void setTitle(String title) {
        this.title = title;
    }

    void revise() {
        revision++;
        title = titleOf(revision);
    }
}

package io.easykit.cache.blog;

import io.easykit.cache.Consistency;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.hibernate.Hibernate;
import org.springframework.transaction.annotation.Transactional;

/** Cached reads and updates of articles, as a service has them. */
class Articles {

    record Headline(long revision, String title) {

        static Headline of(Article article) {
            return new Headline(article.getRevision(), article.getTitle());
        }
    }

    /** Needs a session, because the tags are loaded lazily. */
    record Summary(String title, int tags) {}

    private final ArticleRepository repository;
    final AtomicInteger loads = new AtomicInteger();

    Articles(ArticleRepository repository) {
        this.repository = repository;
    }

    @Cacheable(prefix = "article", keys = "#id", consistency = Consistency.CP)
    public Headline strong(long id) {
        return load(id);
    }

    @Cacheable(prefix = "headline", keys = "#id", staleWindow = "200ms")
    public Headline eventual(long id) {
        return load(id);
    }

    @Cacheable(prefix = "summary", keys = "#id", staleWindow = "1h", ttl = "2h")
    public Summary summary(long id) {
        loads.incrementAndGet();
        Article article = repository.findById(id).orElseThrow();
        return new Summary(article.getTitle(), article.tags().size());
    }

    @Cacheable(prefix = "near", keys = "#id", staleWindow = "200ms", nearTtl = "200ms")
    public Headline near(long id) {
        return load(id);
    }

    @Cacheable(prefix = "batch", keys = "#ids", batch = true, consistency = Consistency.CP)
    public Map<Long, Headline> batch(Collection<Long> ids) {
        return ids.stream().collect(Collectors.toMap(id -> id, this::load));
    }

    @Cacheable(prefix = "later", keys = "#id", consistency = Consistency.CP)
    public CompletableFuture<Headline> later(long id) {
        return CompletableFuture.completedFuture(load(id));
    }

    @Cacheable(prefix = "hinted", keys = "#id")
    public Headline hinted(long id) {
        return load(id);
    }

    /** Uses queries that require a transaction. */
    @Cacheable(prefix = "demanding", keys = "#id", staleWindow = "1h", ttl = "2h")
    public List<Long> demanding(long id) {
        loads.incrementAndGet();
        try (Stream<Article> before = repository.streamByIdLessThan(id)) {
            return List.of(
                    before.count(),
                    repository.countByIdLessThan(id),
                    repository.findSharedById(id).orElseThrow().getRevision());
        }
    }

    /** The entity itself. */
    @Cacheable(prefix = "entity", keys = "#id", consistency = Consistency.CP)
    public Article entity(long id) {
        loads.incrementAndGet();
        Article article = repository.findById(id).orElseThrow();
        Hibernate.initialize(article.tags());
        return article;
    }

    @UpdateCache(prefix = "article", keys = "#id")
    @UpdateCache(prefix = "headline", keys = "#id")
    @UpdateCache(prefix = "near", keys = "#id")
    @UpdateCache(prefix = "batch", keys = "#id")
    @UpdateCache(prefix = "later", keys = "#id")
    @UpdateCache(prefix = "summary", keys = "#id")
    @UpdateCache(prefix = "entity", keys = "#id")
    @UpdateCache(prefix = "demanding", keys = "#id")
    @Transactional
    public long revise(long id) {
        Article article = repository.findLockedById(id).orElseThrow();
        article.revise();
        return article.getRevision();
    }

    @UpdateCache(prefix = "article", keys = "#id")
    @UpdateCache(prefix = "headline", keys = "#id")
    @Transactional
    public void reviseAndFail(long id) {
        Article article = repository.findLockedById(id).orElseThrow();
        article.setTitle("rolled back");
        repository.flush();
        throw new IllegalStateException("rolled back");
    }

    private Headline load(long id) {
        loads.incrementAndGet();
        return Headline.of(repository.findById(id).orElseThrow());
    }
}

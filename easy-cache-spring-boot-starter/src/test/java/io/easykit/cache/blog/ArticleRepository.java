package io.easykit.cache.blog;

import jakarta.persistence.LockModeType;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

interface ArticleRepository extends JpaRepository<Article, Long> {

    @Lock(LockModeType.PESSIMISTIC_WRITE)
    Optional<Article> findLockedById(Long id);

    @Lock(LockModeType.PESSIMISTIC_READ)
    Optional<Article> findSharedById(Long id);

    Stream<Article> streamByIdLessThan(Long id);

    @Transactional(propagation = Propagation.MANDATORY)
    long countByIdLessThan(Long id);
}

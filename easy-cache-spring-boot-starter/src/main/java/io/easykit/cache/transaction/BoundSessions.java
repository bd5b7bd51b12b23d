package io.easykit.cache.transaction;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.orm.jpa.EntityManagerFactoryInfo;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/** The connections and JPA sessions bound to a thread. */
public final class BoundSessions {

    private static final boolean JDBC = isPresent("org.springframework.jdbc.datasource.ConnectionHolder");
    private static final boolean JPA = isPresent("org.springframework.orm.jpa.EntityManagerHolder");
    private static final boolean HIBERNATE = isPresent("org.hibernate.engine.spi.SharedSessionContractImplementor");

    private BoundSessions() {}

    /**
     * Returns the pools with a held connection: each a {@code DataSource}, or the factory of the session that holds it.
     */
    static Set<Object> heldPools(Map<Object, Object> resources) {
        Set<Object> pools = new LinkedHashSet<>();
        resources.forEach((key, resource) -> {
            if (JDBC && Jdbc.holdsConnection(resource)) {
                pools.add(key);
            } else if (JPA && Jpa.holdsConnection(resource)) {
                pools.add(Jpa.pool(key));
            }
        });
        return pools;
    }

    /** Whether this thread holds a connection. */
    public static boolean holdConnection() {
        return !heldPools(TransactionSynchronizationManager.getResourceMap()).isEmpty();
    }

    /** Returns the factories of the sessions. */
    static List<Object> factories(Map<Object, Object> resources) {
        List<Object> factories = new ArrayList<>();
        resources.forEach((key, resource) -> {
            if (JPA && Jpa.isReplaceable(key, resource)) {
                factories.add(key);
            }
        });
        return factories;
    }

    /** Binds a new session of the factory to this thread. The result unbinds and closes it. */
    static Runnable bindNew(Object factory) {
        return Jpa.bindNew((EntityManagerFactory) factory);
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, BoundSessions.class.getClassLoader());
    }

    private static final class Jdbc {

        static boolean holdsConnection(Object resource) {
            return resource instanceof ConnectionHolder holder && holder.getConnectionHandle() != null;
        }
    }

    private static final class Jpa {

        static boolean holdsConnection(Object resource) {
            return resource instanceof EntityManagerHolder holder
                    && (!HIBERNATE || Hibernate.holdsConnection(holder.getEntityManager()));
        }

        static Object pool(Object factory) {
            Object dataSource = factory instanceof EntityManagerFactoryInfo info ? info.getDataSource() : null;
            return dataSource != null ? dataSource : factory;
        }

        /** Other kinds of sessions, such as those of Hibernate's own transaction manager, are opened on demand. */
        static boolean isReplaceable(Object key, Object resource) {
            return key instanceof EntityManagerFactory && resource.getClass() == EntityManagerHolder.class;
        }

        static Runnable bindNew(EntityManagerFactory factory) {
            EntityManager session = factory.createEntityManager();
            TransactionSynchronizationManager.bindResource(factory, new EntityManagerHolder(session));
            return () -> {
                TransactionSynchronizationManager.unbindResourceIfPossible(factory);
                EntityManagerFactoryUtils.closeEntityManager(session);
            };
        }
    }

    private static final class Hibernate {

        /** Sessions of other providers count as connected. */
        static boolean holdsConnection(@Nullable EntityManager session) {
            if (session == null) {
                return false;
            }
            try {
                return session.unwrap(SharedSessionContractImplementor.class)
                        .getJdbcCoordinator()
                        .getLogicalConnection()
                        .isPhysicallyConnected();
            } catch (RuntimeException foreign) {
                return true;
            }
        }
    }
}

package lockstep;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.BaseConfig;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.MasterSlaveServersConfig;
import org.redisson.config.ReadMode;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;
import org.redisson.config.SubscriptionMode;
import org.redisson.misc.RedisURI;

/** What differs between the versions of Redisson, from 3.15 on. The same source is compiled against each of them. */
final class Versions {
    /** Longer than any history. */
    private static final int NEVER_MS = 1_000_000_000;
    private static final int AT_ONCE_MS = 1;
    /** What sentinels call the master that they watch, as in sim/src/replay/servers/sentinel/settings.rs. */
    private static final String MASTER_NAME = "lockstep";

    private Versions() {}

    static String redisson() {
        String version = Redisson.class.getPackage().getImplementationVersion();
        return version == null ? "unknown" : version;
    }

    /** A client of a single server with the settings that Redisson has by default, but for the watchdog. */
    static RedissonClient plainClient(String server, long watchdogMs) {
        Config config = new Config();
        config.setLockWatchdogTimeout(watchdogMs);
        config.useSingleServer().setAddress("redis://" + server);
        return Redisson.create(config);
    }

    /**
     * A client of a master and a replica, as it is told, whether or not that follows the master yet, with the settings that
     * Redisson has by default. With 3.15 a first acquire without a replica lasts longer than a short watchdog.
     */
    static RedissonClient plainClientOfMaster(String server, String replica) {
        Config config = new Config();
        config.useMasterSlaveServers().setMasterAddress("redis://" + server).addSlaveAddress("redis://" + replica);
        return Redisson.create(config);
    }

    /** All connections at once and one for messages, one event loop, and nothing that is sent without being asked. */
    static Config config(Settings settings) throws ReflectiveOperationException {
        Config config = new Config();
        config.setCodec(StringCodec.INSTANCE);
        config.setThreads(1);
        config.setNettyThreads(1);
        config.setLockWatchdogTimeout(settings.watchdog().leaseMs());
        if (settings.watchdog().batch() > 0) {
            // Each lock is renewed by a script of its own where that is not known.
            setIfKnown(config, "setLockWatchdogBatchSize", int.class, settings.watchdog().batch());
        }
        if (settings.watchdog().queueMs() > 0) {
            // 3.15 has no such setting: its waiters queue for 300 s.
            setIfKnown(config, "setFairLockWaitTimeout", long.class, settings.watchdog().queueMs());
        }
        // EVAL carries the script that is run. With EVALSHA the first request of a process to each server would differ.
        setIfKnown(config, "setUseScriptCache", boolean.class, false);
        if (settings.sentinel() != null) {
            useSentinel(config, settings);
        } else if (settings.announced() != null) {
            useCluster(config, settings);
        } else if (settings.replicas()) {
            useMaster(config, settings);
        } else {
            useSingleServer(config, settings);
        }
        return config;
    }

    private static void useSingleServer(Config config, Settings settings) throws ReflectiveOperationException {
        SingleServerConfig server = config.useSingleServer();
        server.setAddress(settings.address());
        server.setConnectionPoolSize(settings.connections());
        server.setConnectionMinimumIdleSize(settings.connections());
        server.setSubscriptionConnectionPoolSize(1);
        server.setSubscriptionConnectionMinimumIdleSize(1);
        server.setDnsMonitoringInterval(-1);
        useCommon(server, settings);
        setDelay(server, "setReconnectionDelay", null, AT_ONCE_MS);
    }

    private static void useCommon(BaseConfig<?> server, Settings settings) throws ReflectiveOperationException {
        server.setSubscriptionsPerConnection(1000);
        server.setPingConnectionInterval(0);
        server.setTimeout(settings.timeoutMs());
        server.setRetryAttempts(settings.attempts());
        setDelay(server, "setRetryDelay", "setRetryInterval", settings.delayMs());
    }

    private static void useMaster(Config config, Settings settings) throws ReflectiveOperationException {
        MasterSlaveServersConfig servers = config.useMasterSlaveServers();
        servers.setMasterAddress(settings.address());
        useMasterOnly(config, servers, settings);
        if (settings.messagesFrom() != null) {
            servers.addSlaveAddress(settings.messagesFrom());
            servers.setSubscriptionMode(SubscriptionMode.SLAVE);
            servers.setSlaveConnectionPoolSize(1);
            servers.setSlaveConnectionMinimumIdleSize(1);
        }
    }

    /** It is told of the nodes of the cluster by the server itself, whose address is another one outside, as behind a NAT. */
    private static void useCluster(Config config, Settings settings) throws ReflectiveOperationException {
        ClusterServersConfig servers = config.useClusterServers();
        servers.addNodeAddress(settings.address());
        servers.setNatMap(reached(settings));
        servers.setScanInterval(settings.lookEveryMs() == 0 ? NEVER_MS : settings.lookEveryMs());
        useMasterOnly(config, servers, settings);
    }

    /** It is told once where the master is, by a sentinel that is alone. */
    private static void useSentinel(Config config, Settings settings) throws ReflectiveOperationException {
        SentinelServersConfig servers = config.useSentinelServers();
        servers.addSentinelAddress(settings.sentinel());
        servers.setMasterName(MASTER_NAME);
        servers.setCheckSentinelsList(false);
        servers.setNatMap(reached(settings));
        servers.setScanInterval(NEVER_MS);
        useMasterOnly(config, servers, settings);
    }

    /** Where the servers are that are announced at other addresses: the first one at that of the settings. */
    private static Map<String, String> reached(Settings settings) {
        RedisURI address = new RedisURI(settings.address());
        Map<String, String> reached = new HashMap<>();
        for (String announced : settings.announced().split(",")) {
            String[] both = announced.split("=");
            reached.put(both[0], both.length > 1 ? both[1] : address.getHost() + ":" + address.getPort());
        }
        return reached;
    }

    /** Reads on the master, and subscribes there too: it opens no connection to any other. */
    private static void useMasterOnly(Config config, BaseMasterSlaveServersConfig<?> servers, Settings settings)
            throws ReflectiveOperationException {
        setIfKnown(config, "setCheckLockSyncedSlaves", boolean.class, settings.isSyncChecked());
        setIfKnown(config, "setSlavesSyncTimeout", long.class, (long) settings.syncWithinMs());
        servers.setReadMode(ReadMode.MASTER);
        servers.setSubscriptionMode(SubscriptionMode.MASTER);
        servers.setMasterConnectionPoolSize(settings.connections());
        servers.setMasterConnectionMinimumIdleSize(settings.connections());
        servers.setSubscriptionConnectionPoolSize(1);
        servers.setSubscriptionConnectionMinimumIdleSize(1);
        servers.setDnsMonitoringInterval(-1);
        useCommon(servers, settings);
        // It hears of a new master by a command, and of a lost connection never, unless there is no other master.
        setDelay(servers, "setReconnectionDelay", null, settings.isAlone() ? AT_ONCE_MS : NEVER_MS);
    }

    /** The server at this address is the master from now on, as the watchers of Sentinel and of a replicated group say it. */
    static void changeMaster(RedissonClient redisson, String address) throws ReflectiveOperationException {
        Object connections = field(redisson.getClass(), "connectionManager").get(redisson);
        for (Class<?> owner = connections.getClass(); owner != null; owner = owner.getSuperclass()) {
            for (Method method : owner.getDeclaredMethods()) {
                if (method.getName().equals("changeMaster") && method.getParameterCount() == 2) {
                    method.setAccessible(true);
                    method.invoke(connections, 0, new RedisURI(address));
                    return;
                }
            }
        }
        throw new NoSuchMethodException("changeMaster");
    }

    /** 3.15 has no such lock. */
    static RLock fencedLock(RedissonClient redisson, String name) throws ReflectiveOperationException {
        return (RLock) RedissonClient.class.getMethod("getFencedLock", String.class).invoke(redisson, name);
    }

    /** Since 3.43 at the latest; 3.15 has none over values. */
    static RLock valueLock(RedissonClient redisson, String group, Collection<?> values)
            throws ReflectiveOperationException {
        return (RLock) RedissonClient.class
                .getMethod("getMultiLock", String.class, Collection.class)
                .invoke(redisson, group, values);
    }

    /** Since 3.47 a strategy, which by default draws a random delay; before, a fixed interval, or none that can be set. */
    private static void setDelay(Object server, String setter, String olderSetter, int delayMs)
            throws ReflectiveOperationException {
        Class<?> strategy;
        try {
            strategy = Class.forName("org.redisson.config.DelayStrategy");
        } catch (ClassNotFoundException older) {
            if (olderSetter != null) {
                server.getClass().getMethod(olderSetter, int.class).invoke(server, delayMs);
            }
            return;
        }
        Object constant = Class.forName("org.redisson.config.ConstantDelay")
                .getConstructor(Duration.class)
                .newInstance(Duration.ofMillis(delayMs));
        server.getClass().getMethod(setter, strategy).invoke(server, constant);
    }

    private static void setIfKnown(Config config, String setter, Class<?> type, Object value)
            throws IllegalAccessException, InvocationTargetException {
        Method method;
        try {
            method = Config.class.getMethod(setter, type);
        } catch (NoSuchMethodException older) {
            return;
        }
        method.invoke(config, value);
    }

    /** The first half of every holder of this client. Redisson draws a UUID. */
    static void setIdentity(RedissonClient redisson, String identity) throws ReflectiveOperationException {
        Object owner = services(redisson);
        field(owner.getClass(), "id").set(owner, identity);
    }

    /** The wheel of everything that a client does at a time of its own. */
    static Object timer(RedissonClient redisson) throws ReflectiveOperationException {
        Object owner = services(redisson);
        return field(owner.getClass(), "timer").get(owner);
    }

    private static Object services(RedissonClient redisson) throws ReflectiveOperationException {
        Object connections = field(redisson.getClass(), "connectionManager").get(redisson);
        try {
            return connections.getClass().getMethod("getServiceManager").invoke(connections);
        } catch (NoSuchMethodException older) {
            return connections;
        }
    }

    /**
     * Versions that keep the renewed locks of all clients in one static map would take the entries of a closed client for
     * those of the next one with the same identity.
     */
    static void forget(String identity) throws ReflectiveOperationException {
        for (String holder : new String[] {"org.redisson.RedissonBaseLock", "org.redisson.RedissonLock"}) {
            Field entries;
            try {
                entries = Class.forName(holder).getDeclaredField("EXPIRATION_RENEWAL_MAP");
            } catch (ClassNotFoundException | NoSuchFieldException other) {
                continue;
            }
            entries.setAccessible(true);
            Map<?, ?> map = (Map<?, ?>) entries.get(null);
            map.keySet().removeIf(name -> String.valueOf(name).startsWith(identity + ":"));
        }
    }

    static Field field(Class<?> type, String name) throws NoSuchFieldException {
        for (Class<?> owner = type; owner != null; owner = owner.getSuperclass()) {
            try {
                Field field = owner.getDeclaredField(name);
                field.setAccessible(true);
                return field;
            } catch (NoSuchFieldException inherited) {
                // The superclass has it.
            }
        }
        throw new NoSuchFieldException(type.getName() + "." + name);
    }
}

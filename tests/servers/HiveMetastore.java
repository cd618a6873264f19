import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;
import org.apache.hadoop.hive.metastore.txn.TxnStore;
import org.apache.hadoop.hive.metastore.txn.TxnUtils;

/**
 * A Hive Metastore that supports locks. First, this class creates the tables for locks, which the in-memory database
 * lacks. It also removes the locks of dead clients every second, because a Metastore itself removes these locks only if
 * Hive's compactor is enabled.
 */
public class HiveMetastore {
  public static void main(String[] arguments) throws Throwable {
    HiveConf conf = new HiveConf();
    TxnDbUtil.prepDb(conf);
    TxnStore locks = TxnUtils.getTxnStore(conf);
    Executors.newSingleThreadScheduledExecutor(work -> {
      Thread thread = new Thread(work, "locks of the dead");
      thread.setDaemon(true);
      return thread;
    }).scheduleWithFixedDelay(locks::performTimeOuts, 1, 1, TimeUnit.SECONDS);
    HiveMetaStore.main(arguments);
  }
}

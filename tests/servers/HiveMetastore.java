import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;
import org.apache.hadoop.hive.metastore.txn.TxnStore;
import org.apache.hadoop.hive.metastore.txn.TxnUtils;

/**
 * A Hive Metastore with the tables for locks, which its in-memory database lacks, and with the task that removes the
 * locks of dead clients, which a Metastore runs only with Hive's compactor.
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

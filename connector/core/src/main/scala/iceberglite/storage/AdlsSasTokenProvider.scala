package iceberglite.storage

import java.io.IOException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.azurebfs.extensions.SASTokenProvider

/**
 * Provides Hadoop's file system for Azure Data Lake Storage with the shared access signature that a REST server vended
 * for a storage account. The file system asks again before the signature expires. Therefore, files that are open get
 * the renewed signature too. The file system creates the object by the name of the class.
 */
final class AdlsSasTokenProvider extends SASTokenProvider {
  private var conf = new Configuration(false)
  private var host = ""

  override def initialize(configuration: Configuration, accountName: String): Unit = {
    conf = configuration
    host = accountName
  }

  /** Returns the signature, which covers all paths and operations that the server allows. */
  override def getSASToken(account: String, fileSystem: String, path: String, operation: String): String = {
    val keys = Seq(host, s"$account.dfs.core.windows.net", account).map(VendedTokens.hadoopSasToken)
    val current = CredentialRenewal.current(conf)
    keys.flatMap(key => Option(current.getRaw(key))).headOption
      .getOrElse(throw new IOException(s"The catalog vended no shared access signature for the storage account $host"))
  }
}

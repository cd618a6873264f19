package iceberglite.tree.root

import java.util.concurrent.ConcurrentHashMap

import org.slf4j.LoggerFactory

import iceberglite.spec.property.{TableProperty, Version4Property}
import iceberglite.tree.TreeTable

/**
 * The warning that a commit has written a root manifest above `write.v4.root.max-bytes`. Such a commit succeeds, but
 * each later commit writes a root of about the same size.
 */
private[root] object RootSizeWarning {
  private val log = LoggerFactory.getLogger("iceberglite.tree.RootSize")
  private val warned = ConcurrentHashMap.newKeySet[String]

  /** Logs the warning, if the root is too large, once for each table and process. Lengths are in bytes. */
  def check(table: TreeTable, length: Long, limit: Long): Unit = message(table, length, limit).foreach(log.warn(_))

  /** Returns the text of the warning; absent if the root is not too large, or if it was returned before. */
  def message(table: TreeTable, length: Long, limit: Long): Option[String] =
    if (length <= limit || !warned.add(table.metadata.uuid.mkString + table.metadata.location)) None
    else Some(
      s"The root manifest of ${table.name} has $length bytes, over the limit of $limit bytes " +
        s"(${Version4Property.MaxRootBytes.key}), and each commit writes it again. " +
        s"CALL system.rewrite_manifests merges the leaf manifests that it lists. Larger leaf manifests " +
        s"(${TableProperty.ManifestTargetSize.key}) and statistics of fewer columns also make it smaller"
    )
}

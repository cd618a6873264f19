package iceberglite.spark.write

import iceberglite.spec.IcebergError.ConcurrentChange
import iceberglite.table.Table

/** Plans and runs a statement again, if rewrites such as compactions replaced files that the statement changes. */
private[iceberglite] trait StatementRerun {

  /**
   * Runs the statement until its commit succeeds, within the limits of the table properties `commit.retry.*`. Nothing
   * of the failed run is committed, and its files have been removed.
   *
   * @param table the table when the statement was planned
   * @param conflict the conflict of the failed run with rewrites
   * @throws ConcurrentChange if all runs fail because of rewrites. Other errors of a run end the statement immediately
   */
  def run(table: Table, conflict: ConcurrentChange): Unit
}

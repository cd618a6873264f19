package iceberglite.spark.changelog

import org.apache.spark.SparkThrowable
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.spark.rowlevel.StatementFixture

/**
 * Compares the changes of a commit whose parent snapshot has expired in tables of version 4 and in tables of version 3.
 * The parent's files that the commit removed do not exist any more, so that the changes can be read only if the commit
 * removed no data files and no delete files.
 */
class ExpiredParentSuite extends AnyFunSuite with StatementFixture {

  /** Limits with which commits move files to leaves, and deletion vectors of leaves to Puffin files. */
  private val smallRoots = Seq(
    "write.v4.single-commit-max-files" -> "1",
    "write.v4.root.max-data-files" -> "1",
    "write.v4.root.max-delete-entries" -> "1",
    "write.v4.root.max-vector-bytes" -> "1"
  )

  private val Unreadable = Left("ICEBERG_LITE.UNREADABLE_FILE")

  /** A commit, and its changes in merge-on-read and copy-on-write mode: rows, or an error condition. */
  private case class Commit(statement: String, mergeOnRead: Outcome, copyOnWrite: Outcome)
  private type Outcome = Either[String, Seq[String]]

  private val added = Right(Seq("[200,9,INSERT]", "[201,9,INSERT]"))
  private val commits = Seq(
    Commit("INSERT INTO %s SELECT id, 9 FROM range(200, 202)", added, added),
    Commit("DELETE FROM %s WHERE id = 31", Right(Seq("[31,1,DELETE]")), Unreadable),
    // The parent's deletion vector of the file is replaced, but its Puffin file also contains another vector.
    Commit("DELETE FROM %s WHERE id = 5", Right(Seq("[5,2,DELETE]")), Unreadable),
    // The parent's deletion vector of the file is replaced, and no other snapshot needs its Puffin file.
    Commit("DELETE FROM %s WHERE id IN (5, 7)", Unreadable, Unreadable),
    Commit("DELETE FROM %s WHERE p = 1", Unreadable, Unreadable),
    Commit("INSERT OVERWRITE %s SELECT 1, 1", Unreadable, Unreadable)
  )

  private def changes(t: String, options: (String, String)*): Outcome =
    try Right(texts(spark.read.options(options.toMap).table(s"$t.changes").select("id", "p", "_change_type")))
    catch {
      case e: Exception =>
        Left(Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).collectFirst {
          case known: SparkThrowable if Option(known.getErrorClass).exists(_.startsWith("ICEBERG_LITE")) =>
            known.getErrorClass
        }.getOrElse(throw e))
    }

  /** Makes a commit, and lets its parent snapshot expire. @return the changes of the commit */
  private def changesOf(statement: String, version: Int, isUpgraded: Boolean, mode: String): Outcome = {
    val t = create("id BIGINT, p BIGINT", version, mode, smallRoots: _*)
    sql(s"ALTER TABLE $t ADD PARTITION FIELD p")
    sql(s"INSERT INTO $t SELECT id, id % 3 FROM range(0, 30)")
    sql(s"INSERT INTO $t SELECT id, id % 2 FROM range(30, 40)")
    sql(s"DELETE FROM $t WHERE id = 2")
    if (isUpgraded) sql(s"ALTER TABLE $t SET TBLPROPERTIES ('format-version' = '4')")
    sql(s"DELETE FROM $t WHERE id IN (4, 8)")
    val parent = live(t).metadata.currentSnapshotId.get.toString
    sql(statement.replace("%s", t))
    sql(s"CALL lite.system.expire_snapshots(table => '${t.stripPrefix("lite.")}', " +
      "older_than => TIMESTAMP'2100-01-01 00:00:00', retain_last => 1)")
    assert(rows(s"SELECT 1 FROM $t.snapshots").size == 1)
    val afterParent = changes(t, "start-snapshot-id" -> parent)
    assert(changes(t) == afterParent)
    afterParent
  }

  for {
    mode <- Seq("merge-on-read", "copy-on-write")
    commit <- commits
  } test(
    s"the changes of a commit whose parent has expired are the same in versions 3 and 4: $mode, ${commit.statement}",
    Sampling.slowUnless(mode == "merge-on-read" && commit.statement == "DELETE FROM %s WHERE id = 31"): _*
  ) {
    val expected = if (mode == "merge-on-read") commit.mergeOnRead else commit.copyOnWrite
    // The cache may still have delete files that do not exist any more.
    withConf("spark.sql.iceberg.executor-cache.enabled" -> "false") {
      for ((version, isUpgraded) <- Seq((3, false), (4, false), (3, true)))
        assert(changesOf(commit.statement, version, isUpgraded, mode) == expected, s"version $version, $isUpgraded")
    }
  }
}

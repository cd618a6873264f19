package iceberglite.spark.inspect

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.rowlevel.StatementFixture

/** Tests how metadata tables and the procedure `validate_tree` show the metadata trees of version 4. */
class Version4TreeSuite extends AnyFunSuite with StatementFixture {

  /** Creates a table with a leaf of five files, of which one is removed, and with a file in the root. */
  private def newTree(version: Int = 4): String = {
    val t = create("id BIGINT", version, "merge-on-read", "write.v4.single-commit-max-files" -> "3")
    sql(s"INSERT INTO $t SELECT id FROM range(0, 50, 1, 5)")
    sql(s"INSERT INTO $t VALUES (100)")
    sql(s"DELETE FROM $t WHERE id >= 10 AND id < 20")
    t
  }

  test("metadata tables show the root and the leaves, and count entries that a manifest's deletion vector removes") {
    val t = newTree()
    assert(sorted(s"SELECT level, added_data_files_count, existing_data_files_count, deleted_data_files_count " +
      s"FROM $t.manifests") == Seq("[0,0,1,0]", "[1,4,0,1]"))
    assert(sorted(s"SELECT level, content, entries, deleted_entries FROM $t.tree") ==
      Seq("[0,root,3,0]", "[1,data,5,1]"))
    assert(sorted(s"SELECT overlapping_manifests, length > 0 FROM $t.tree") == Seq("[0,true]", "[null,true]"))
    assert(sorted(s"SELECT status, count(*) FROM $t.entries GROUP BY status") == Seq("[0,1]", "[1,4]", "[2,1]"))
    assert(sorted(s"SELECT count(*), count(DISTINCT data_file.file_path) FROM $t.all_entries WHERE status < 2") ==
      Seq("[6,6]"))
    assert(sorted(s"SELECT count(*) FROM $t.all_manifests WHERE level = 1") == Seq("[3]"))
  }

  test("validate_tree finds nothing in a valid tree, and names a damaged leaf") {
    val t = newTree()
    val name = t.stripPrefix("lite.")
    assert(rows(s"CALL lite.system.validate_tree('$name')").isEmpty)
    rows(s"SELECT snapshot_id FROM $t.snapshots").foreach { row =>
      assert(rows(s"CALL lite.system.validate_tree('$name', ${row.getLong(0)})").isEmpty)
    }
    val table = live(t)
    val leaf = rows(s"SELECT path FROM $t.tree WHERE level = 1").head.getString(0)
    table.io.replace(leaf, Array[Byte](1, 2, 3))
    val Seq(found) = rows(s"CALL lite.system.validate_tree('$name')")
    assert(found.getLong(0) == table.currentSnapshot.get.snapshotId && found.getString(1) == "I1-I3")
    assert(found.getString(2).contains(leaf))
  }

  test("validate_tree rejects a snapshot with a manifest list, and finds nothing in a table without snapshots") {
    val t = newTree(version = 3)
    val e = intercept[Exception](sql(s"CALL lite.system.validate_tree('${t.stripPrefix("lite.")}')").collect())
    assert(messages(e).contains("has a manifest list"))
    val empty = create("id BIGINT", 4, "merge-on-read")
    assert(rows(s"CALL lite.system.validate_tree('${empty.stripPrefix("lite.")}')").isEmpty)
  }
}

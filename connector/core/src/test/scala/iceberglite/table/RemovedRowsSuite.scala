package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ContentFile
import iceberglite.table.Actions._
import iceberglite.table.TestTables.fileOf
import iceberglite.table.action.DeleteFiles

/** Tests [[RemovedRows]], which counts the live rows of the data files that a commit removed. Each file has 10 rows. */
class RemovedRowsSuite extends AnyFunSuite {
  private val (a, b) = (fileOf("a", "a"), fileOf("b", "b"))

  /**
   * Returns the number of rows that are removed if all files of a table with the given delete files are removed. An
   * append adds the delete files, because it does not check their data files.
   */
  private def removed(version: FormatVersion, deletes: (Actions => Vector[ContentFile])*): Option[Long] = {
    val actions = tableByCategory(version)
    actions.append(a, b)
    deletes.foreach(files => actions.append(files(actions): _*))
    actions.commit(new DeleteFiles(AlwaysTrue))
    RemovedRows.count(actions.table, actions.table.currentSnapshot.get)
  }

  test(
    "rows that were deleted before are not counted if each delete file or deletion vector applies to one data file"
  ) {
    assert(removed(FormatVersion.V2).contains(20))
    val deletes = positionDeletes("d", a).copy(recordCount = 3)
    assert(removed(FormatVersion.V2, _ => Vector(deletes)).contains(17))
    Seq(FormatVersion.V3, FormatVersion.V4).foreach { version =>
      assert(removed(version, _.vectors("mem://t/data/v.puffin", a -> Seq(1L), b -> Seq(2L, 3L))).contains(17))
    }
  }

  test("deletes of a data file that does not exist are not subtracted") {
    val dangling = positionDeletes("d", fileOf("a", "gone")).copy(recordCount = 4)
    assert(removed(FormatVersion.V2, _ => Vector(dangling)).contains(20))
    assert(removed(FormatVersion.V2, _ => Vector(dangling, positionDeletes("e", b))).contains(19))
    Seq(FormatVersion.V3, FormatVersion.V4).foreach { version =>
      val vectors = (t: Actions) => t.vectors("mem://t/data/v.puffin", fileOf("a", "gone") -> Seq(1L), b -> Seq(2L))
      assert(removed(version, vectors).contains(19), version)
    }
  }

  test("the number is unknown if the contents of delete files must be read to determine which rows were live") {
    val twice = Seq("d", "e").map(name => (_: Actions) => Vector(positionDeletes(name, a)))
    assert(removed(FormatVersion.V2, twice: _*).isEmpty)
    assert(removed(FormatVersion.V2, _ => Vector(positionDeletes("d", a, fileOf("a", "other")))).isEmpty)
    assert(removed(FormatVersion.V2, _ => Vector(equalityDeletes("e", a, (0, 1)))).isEmpty)
  }
}

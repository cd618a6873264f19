package iceberglite.spark.write

import java.nio.ByteBuffer

import org.apache.spark.sql.connector.catalog.Identifier
import org.scalatest.exceptions.TestFailedException
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{ContentFile, MetricMaps}
import iceberglite.spec.types.SingleValue
import iceberglite.spec.types.Literal.LongLiteral
import iceberglite.table.action.OverwriteFiles
import iceberglite.tree.TreeReader

/** Checks that [[RecomputedMetadata]] finds errors in metadata. */
class RecomputedMetadataSuite extends AnyFunSuite with TableChecks {
  private val errors: Seq[(String, ContentFile => ContentFile)] = Seq(
    "an incorrect record count" -> (f => f.copy(recordCount = f.recordCount + 1)),
    "an incorrect file size" -> (f => f.copy(fileSizeInBytes = f.fileSizeInBytes - 1)),
    "an incorrect null count" -> metrics(m => m.copy(nullValueCounts = m.nullValueCounts.map(_.updated(2, 0L)))),
    "an incorrect value count" -> metrics(m => m.copy(valueCounts = m.valueCounts.map(_.updated(1, 9L)))),
    "an incorrect lower bound" -> metrics(m => m.copy(lowerBounds = m.lowerBounds.map(_.updated(1, bound(1L))))),
    "an incorrect upper bound" -> metrics(m => m.copy(upperBounds = m.upperBounds.map(_.updated(1, bound(98L))))),
    "an incorrect split offset" -> (f => f.copy(splitOffsets = f.splitOffsets.map(_ + 1)))
  )

  private def bound(value: Long): ByteBuffer = SingleValue.encode(LongLiteral(value))

  private def metrics(change: MetricMaps => MetricMaps)(file: ContentFile): ContentFile = {
    val m = file.metrics
    val maps =
      MetricMaps(m.columnSizes, m.valueCounts, m.nullValueCounts, m.nanValueCounts, m.lowerBounds, m.upperBounds)
    file.copy(metrics = change(maps))
  }

  Seq("parquet", "orc", "avro").foreach { format =>
    test(s"the check accepts the metadata of $format files, and finds each incorrect value") {
      val t = newTable()
      sql(s"CREATE TABLE $t (id BIGINT, s STRING) USING iceberg TBLPROPERTIES ('write.format.default' = '$format')")
      sql(s"INSERT INTO $t SELECT id, IF(id % 3 = 0, NULL, concat('s', id)) FROM range(0, 100, 1, 1)")
      checkMetadata(t)
      val Array(_, namespace, name) = t.split('.')
      val table = spark.sessionState.catalogManager.catalog("lite").asInstanceOf[LiteCatalog]
        .sharedTable(Identifier.of(Array(namespace), name)).current
      val tree = new TreeReader(table.io, table.metadata)
      val file = table.currentSnapshot.toVector.flatMap(tree.manifests).flatMap(tree.entries(_).map(_.file)).head
      errors.filterNot { case (error, _) => error == "an incorrect split offset" && format == "avro" }.foreach {
        case (error, edit) =>
          val changed =
            table.refresh().transaction().add(new OverwriteFiles(AlwaysTrue, Vector(edit(file)))).commit()
          withClue(error)(intercept[TestFailedException](new RecomputedMetadata(changed).check()))
      }
    }
  }
}

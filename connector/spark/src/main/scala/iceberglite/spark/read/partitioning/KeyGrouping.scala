package iceberglite.spark.read.partitioning

import java.util.IdentityHashMap

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.connector.expressions.{Expression, Expressions, NullOrdering, SortDirection, SortOrder}
import org.apache.spark.sql.connector.read.partitioning.{KeyGroupedPartitioning, Partitioning}
import org.apache.spark.sql.internal.SQLConf

import iceberglite.scan.FileScanTask
import iceberglite.spark.convert.PartitionTerm
import iceberglite.spark.read.files.ScanColumns
import iceberglite.spark.read.planning.ScanFiles
import iceberglite.spec.partition.{PartitionField, PartitionSpec, PartitionTuple, Truncate, Void}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField

/**
 * The grouping of the files of a scan by partition values. The values of the terms form the key of a group. Rows that
 * differ in the value of a term are in different groups.
 *
 * @param order the columns by which the rows of each group are sorted in ascending order, nulls first, if the files of
 *   the group are read in the order of [[GroupSortOrder.inAscendingOrder]]
 */
final private[iceberglite] case class KeyGrouping(terms: Vector[GroupTerm], order: Vector[NestedField] = Vector.empty) {

  /** Returns this grouping with the columns by which the rows of each group of the scan's files are sorted. */
  def ordered(files: ScanFiles): KeyGrouping =
    copy(order = of(files.plan.tasks).fold(order)(groups => GroupSortOrder.of(files, groups.map(_._2))))

  /**
   * Returns this grouping with its order shortened: the order ends before the first column that the scan does not read.
   */
  def withoutUnread(read: Set[Int]): KeyGrouping = copy(order = order.takeWhile(c => read(c.id)))

  /** Returns the order in the form that Spark expects of a scan. */
  def reportedOrder: Array[SortOrder] = order.map { column =>
    val reference = Expressions.column(PartitionTerm.quoted(Seq(column.name)))
    Expressions.sort(reference, SortDirection.ASCENDING, NullOrdering.NULLS_FIRST)
  }.toArray

  /**
   * Returns the partitioning in the form that Spark expects of a scan; absent without terms. Spark supports parameters
   * only in bucket transforms.
   */
  def reportedPartitioning: Option[Partitioning] =
    if (terms.isEmpty) None
    else {
      val keys = terms.map(t => PartitionTerm(Vector(t.column.name), t.transform).sparkTransform: Expression)
      Some(new KeyGroupedPartitioning(keys.toArray, 0))
    }

  /** Returns the description for EXPLAIN. */
  def description: String =
    terms.filter(_.transform != Void).map(t => PartitionTerm(Vector(t.column.name), t.transform).sql)
      .mkString("grouped by ", ", ", if (order.isEmpty) "" else order.map(_.name).mkString(" sorted by ", ", ", ""))

  /**
   * Returns the key and the files of each group.
   *
   * @return absent if the partition of a file does not determine its key
   */
  def of(tasks: Vector[FileScanTask]): Option[Vector[(Vector[Any], Vector[FileScanTask])]] = {
    val keys = new Keys
    val groups = mutable.LinkedHashMap.empty[Vector[Any], mutable.Builder[FileScanTask, Vector[FileScanTask]]]
    val allHaveKeys = tasks.forall { task =>
      keys.of(task).exists { key =>
        groups.getOrElseUpdate(KeyGrouping.comparable(key), Vector.newBuilder[FileScanTask]) += task
        true
      }
    }
    if (allHaveKeys) Some(groups.iterator.map { case (_, files) => group(keys, files.result()) }.toVector) else None
  }

  private def group(keys: Keys, files: Vector[FileScanTask]): (Vector[Any], Vector[FileScanTask]) =
    (keys.of(files.head).getOrElse(Vector.empty), files)

  /**
   * Computes the keys of files, and caches them by partition tuple, because the files of a partition have the same
   * tuple.
   */
  final private class Keys {
    private val positions = mutable.Map.empty[Int, Option[Vector[Option[Int]]]]
    private val keysByTuple = new IdentityHashMap[PartitionTuple, Option[Vector[Any]]]

    def of(task: FileScanTask): Option[Vector[Any]] =
      positions.getOrElseUpdate(task.spec.specId, positionsIn(task.spec)).flatMap { indexes =>
        keysByTuple.computeIfAbsent(task.file.partition, tuple => key(tuple, indexes))
      }

    private def key(tuple: PartitionTuple, indexes: Vector[Option[Int]]): Option[Vector[Any]] = {
      val values = terms.zip(indexes).map {
        case (term, Some(position)) => tuple.values.lift(position).flatMap(term.toSpark)
        case (_, None) => Some(KeyGrouping.Ungrouped)
      }
      if (values.forall(_.isDefined)) Some(values.flatten) else None
    }

    /**
     * Returns the position of each term among the fields of a partition spec; absent if the partition spec has no field
     * for a term.
     */
    private def positionsIn(spec: PartitionSpec): Option[Vector[Option[Int]]] = {
      val termPositions = terms.map { term =>
        if (term.transform == Void) Some(None)
        else Some(spec.fields.indexWhere(KeyGrouping.matches(term))).filter(_ >= 0).map(Some(_))
      }
      if (termPositions.forall(_.isDefined)) Some(termPositions.flatten) else None
    }
  }
}

private[iceberglite] object KeyGrouping {

  /** The key value of a term by which the files are not grouped. */
  private val Ungrouped: Any = 0

  /**
   * Returns the grouping that the user requested with a read option. Its terms are the partition fields whose columns
   * are read, except `truncate` fields. Absent if there are no such fields, or if the partition of a file does not
   * determine its key.
   */
  def requested(files: ScanFiles, scanColumns: ScanColumns): Option[KeyGrouping] = {
    val read = scanColumns.fields.map(_.id).toSet
    val readTerms = terms(files).filter(t => read(t.column.id) && !t.transform.isInstanceOf[Truncate])
    Some(KeyGrouping(readTerms)).filter(g => readTerms.nonEmpty && g.of(files.plan.tasks).isDefined)
      .map(g => if (isOrderKept) g.ordered(files).withoutUnread(read) else g)
  }

  /**
   * Whether Spark reads each group in one task, so that the order of its rows is kept. With partially clustered
   * distribution, Spark splits groups.
   */
  def isOrderKept: Boolean = !SQLConf.get.v2BucketingPartiallyClusteredDistributionEnabled

  /** Returns the key of a group as a Spark row. */
  def row(key: Vector[Any]): InternalRow = new GenericInternalRow(key.toArray)

  /** Returns the terms that the partition specs of all files of a scan have in common. */
  def terms(files: ScanFiles): Vector[GroupTerm] = {
    val specs = files.plan.tasks.iterator.map(_.spec.specId).toSet.toVector.map(files.table.metadata.specsById)
    specs.headOption.fold(Vector.empty[GroupTerm]) { first =>
      val common = first.fields.filter(f => specs.tail.forall(_.fields.exists(_.sameValues(f))))
      common.filter(_.transform != Void).flatMap(termOf(_, files.schema)).distinct
    }
  }

  private def termOf(field: PartitionField, schema: Schema): Option[GroupTerm] = field.sourceIds match {
    case Vector(id) => schema.fields.find(_.id == id).flatMap(GroupTerm.of(_, field.transform))
    case _ => None
  }

  private def matches(term: GroupTerm)(field: PartitionField): Boolean =
    field.sourceIds == Vector(term.column.id) && field.transform == term.transform

  /**
   * Converts a key to a form that can be compared. Byte arrays are converted to vectors, because an array is equal only
   * to itself.
   */
  private def comparable(key: Vector[Any]): Vector[Any] = key.map {
    case bytes: Array[Byte] => bytes.toVector
    case other => other
  }
}

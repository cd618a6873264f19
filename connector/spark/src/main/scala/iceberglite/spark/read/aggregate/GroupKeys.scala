package iceberglite.spark.read.aggregate

import java.util.IdentityHashMap

import scala.collection.mutable

import iceberglite.scan.FileScanTask
import iceberglite.spark.read.stats.StatisticsColumn
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.types.{Literal, LiteralConversion}
import iceberglite.spec.types.Literal.{DoubleLiteral, FloatLiteral}

/**
 * Determines the key of a file for GROUP BY. All rows of a file have the same key if the file's partition spec has an
 * identity field for each GROUP BY column. Not thread-safe.
 */
final private[aggregate] class GroupKeys(columns: Vector[StatisticsColumn]) {
  private type Key = Vector[Option[Literal]]
  private val positions = mutable.Map.empty[Int, Option[Vector[Int]]]
  private val keysByTuple = new IdentityHashMap[PartitionTuple, Option[Key]]

  /**
   * Returns the GROUP BY key of the rows of a file; absent if the partition of the file does not determine the key. The
   * key of each partition tuple is cached, because many files share a partition tuple.
   */
  def of(task: FileScanTask): Option[Key] =
    if (columns.isEmpty) GroupKeys.NoColumns
    else positions.getOrElseUpdate(task.spec.specId, positionsIn(task.spec)).flatMap { indexes =>
      keysByTuple.computeIfAbsent(task.file.partition, tuple => key(tuple, indexes))
    }

  private def positionsIn(spec: PartitionSpec): Option[Vector[Int]] = {
    val ordinals = columns.flatMap(c => spec.identityPositions.get(c.id))
    if (ordinals.size == columns.size) Some(ordinals) else None
  }

  private def key(tuple: PartitionTuple, indexes: Vector[Int]): Option[Key] = {
    val values = columns.zip(indexes).map { case (column, position) =>
      tuple.values.lift(position).flatMap {
        case None => Some(None)
        case Some(value) => LiteralConversion.to(value, column.fieldType).map(v => Some(GroupKeys.normalize(v)))
      }
    }
    if (values.forall(_.isDefined)) Some(values.flatten) else None
  }
}

private object GroupKeys {
  private val NoColumns: Option[Vector[Option[Literal]]] = Some(Vector.empty)

  /** Converts -0.0 to 0.0, because SQL puts the two zeros into one group. */
  private def normalize(value: Literal): Literal = value match {
    case FloatLiteral(v) if v == 0.0f => FloatLiteral(0.0f)
    case DoubleLiteral(v) if v == 0.0 => DoubleLiteral(0.0)
    case other => other
  }
}

package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{Alias, Ascending, Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, InnerLike, LeftAnti, LeftOuter, LeftSemi, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan, Project}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation

import iceberglite.scan.FileScanTask
import iceberglite.spark.read.IcebergScan
import iceberglite.spark.read.partitioning.{GroupTerm, KeyGrouping}
import iceberglite.spec.partition.Void
import iceberglite.spec.types.{NestedField, PrimitiveType}

/**
 * A side of a join. The rows of the side have the same partitioning as the rows of one scan below it.
 *
 * @param keys for each join key, its attribute and its column in the scan; absent if the key is not a column of the
 *   scan
 */
final private[rules] case class JoinSide(
    plan: LogicalPlan,
    relation: DataSourceV2ScanRelation,
    scan: IcebergScan,
    keys: Vector[Option[(Attribute, NestedField)]]
) {
  val isGrouped: Boolean = relation.keyGroupedPartitioning.isDefined

  /** The terms by which the files of the scan are partitioned. */
  lazy val terms: Vector[GroupTerm] = KeyGrouping.terms(scan.files)

  /**
   * The terms by which the scan is already grouped. Each term comes with the position of its column among the join
   * keys. Absent if the scan is not grouped, or if the column of a term is not a join key.
   */
  lazy val existingTerms: Option[Vector[(Int, GroupTerm)]] = for {
    grouping <- scan.grouping
    expressions <- relation.keyGroupedPartitioning
    positions = expressions.flatMap(e => e.collectLeaves()).map(position)
    if positions.size == grouping.terms.size && positions.forall(_ >= 0)
  } yield positions.toVector.zip(grouping.terms)

  private def position(column: Expression): Int =
    keys.indexWhere(_.exists { case (attribute, _) => attribute.semanticEquals(column) })

  /** Returns the scan's term that is equivalent to a term of another scan, for the key at a position. */
  def equivalentTerm(term: GroupTerm, position: Int): Option[GroupTerm] = keys(position).flatMap { case (_, column) =>
    if (term.transform == Void) voidTerm(position)
    else terms.find(t => t.column.id == column.id && t.hasSameTransform(term))
  }

  /** Returns a term that has the same value for all files, for a join key by which the files are not grouped. */
  def voidTerm(position: Int): Option[GroupTerm] = keys(position).map(_._2).flatMap { column =>
    column.fieldType match {
      case t: PrimitiveType => Some(GroupTerm(column, t, Void))
      case _ => None
    }
  }

  /** Returns the files of the scan in groups with the same values of the given terms. */
  def groups(keyTerms: Vector[(Int, GroupTerm)]): Option[Vector[Vector[FileScanTask]]] =
    KeyGrouping(keyTerms.map(_._2)).of(scan.files.plan.tasks).map(_.map(_._2))

  /** Returns the plan of this side with the scan grouped by the given terms. */
  def grouped(keyTerms: Vector[(Int, GroupTerm)]): LogicalPlan =
    if (isGrouped) plan
    else {
      val unordered = KeyGrouping(keyTerms.map(_._2))
      val grouping = if (KeyGrouping.isOrderKept) unordered.ordered(scan.files) else unordered
      val sorted = grouping.order.map(attributeOf).takeWhile(_.isDefined).flatten
      plan.transform {
        case r: DataSourceV2ScanRelation if r eq relation =>
          r.copy(
            scan = scan.groupedBy(grouping.copy(order = grouping.order.take(sorted.size))),
            keyGroupedPartitioning =
              Some(keyTerms.flatMap { case (i, term) => keys(i).map(k => term.expression(k._1)) }),
            ordering = if (sorted.isEmpty) r.ordering else Some(sorted.map(SortOrder(_, Ascending)))
          )
      }
    }

  /** Returns a column as an attribute of the relation. */
  private def attributeOf(column: NestedField): Option[Attribute] =
    Some(scan.scanColumns.fields.indexWhere(_.id == column.id)).filter(_ >= 0).flatMap(i => relation.output.lift(i))
}

/** Predicts how Spark will execute the joins of a plan. */
private[rules] trait JoinPredictions {

  /** Returns the side of a join that is not broadcast; absent if Spark broadcasts neither side. */
  def streamed(join: Join): Option[LogicalPlan]

  /** Whether the files of both sides of a join are grouped by the keys of the join. */
  def isKeyGrouped(join: Join): Boolean
}

private[rules] object JoinSide {

  private def isGrouped(plan: LogicalPlan): Boolean = plan match {
    case DataSourceV2ScanRelation(_, _: IcebergScan, _, Some(_), _) => true
    case _ => false
  }

  /**
   * Returns the side of a join with the given plan and join keys.
   *
   * @param joins how Spark will execute the joins below the side
   * @return absent if rows are shuffled between the scan and the join, if the keys are not columns of one scan, or if a
   *   read option determines how the files of the scan are grouped
   */
  def of(plan: LogicalPlan, keys: Seq[Expression], joins: JoinPredictions): Option[JoinSide] = {
    val attributes = keys.toVector.map {
      case a: Attribute => Some(a)
      case _ => None
    }
    new Search(joins).find(plan, attributes).flatMap { case (relation, sources) =>
      relation.scan match {
        case scan: IcebergScan if scan.settings.dataGrouping.isEmpty =>
          val columns = sources.map(_.flatMap(column(relation, scan, _)))
          val columnsByKey = attributes.zip(columns).map { case (a, c) => a.flatMap(k => c.map(k -> _)) }
          Some(JoinSide(plan, relation, scan, columnsByKey))
        case _ => None
      }
    }
  }

  private def column(relation: DataSourceV2ScanRelation, scan: IcebergScan, key: Attribute): Option[NestedField] =
    scan.scanColumns.fields.lift(relation.output.indexWhere(_.exprId == key.exprId))
      .filterNot(f => scan.scanColumns.metadataIds(f.id))

  /** Finds the scan below a side, and the attributes of the scan for the join keys. */
  final private class Search(joins: JoinPredictions) {
    private type Keys = Vector[Option[Attribute]]

    def find(plan: LogicalPlan, keys: Keys): Option[(DataSourceV2ScanRelation, Keys)] = plan match {
      case r: DataSourceV2ScanRelation if keys.flatten.exists(r.outputSet.contains) => Some((r, keys))
      case Project(list, child) =>
        val renamed = list.collect { case alias @ Alias(a: Attribute, _) => alias.exprId -> a }.toMap
        find(child, keys.map(_.map(k => renamed.getOrElse(k.exprId, k))))
      case Filter(_, child) => find(child, keys)
      case join: Join => joins.streamed(join) match {
          case Some(side) => Some(side).filterNot(_ => otherSide(join, side).exists(isGrouped)).flatMap(find(_, keys))
          case None if joins.isKeyGrouped(join) => preservedSides(join).flatMap(find(_, keys)).headOption
          case None => None
        }
      case _ => None
    }

    /**
     * Returns the other side of a join. The other side must not be grouped for another join, because Spark passes the
     * groups of a join to all scans below the join, even to scans below a broadcast.
     */
    private def otherSide(join: Join, side: LogicalPlan): LogicalPlan = if (side eq join.left) join.right else join.left

    /** Returns those sides of a join of two grouped scans that determine the partitioning of the join's result. */
    private def preservedSides(join: Join): Seq[LogicalPlan] = join.joinType match {
      case _: InnerLike => Seq(join.left, join.right)
      case LeftOuter | LeftSemi | LeftAnti | ExistenceJoin(_) => Seq(join.left)
      case RightOuter => Seq(join.right)
      case _ => Nil
    }
  }
}

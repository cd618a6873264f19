package iceberglite.spec.partition

import org.scalatest.funsuite.AnyFunSuite

class TableExpressionSuite extends AnyFunSuite {
  private val day = PartitionField(9, 1000, "ts_day", Day)
  private val id = PartitionField(1, 1001, "id", Identity)
  private val old = PartitionField(2, 1002, "old", Void)

  test("each partition field that is not void gets an expression with an id above all column ids") {
    val specs = Vector(PartitionSpec(0, Vector(day)), PartitionSpec(1, Vector(day, old, id)))
    assert(TableExpression.complete(specs, Vector.empty, lastId = 100) == Vector(
      TableExpression(101, Vector(9), Day, "ts_day", Some(1000)),
      TableExpression(102, Vector(1), Identity, "id", Some(1001))
    ))
  }

  test("existing expressions keep their ids, and expressions that no partition spec uses are kept") {
    val lower = TableExpression(107, Vector(11), UnknownTransform("lower"), "lower_str", None)
    val known = Vector(TableExpression(101, Vector(9), Day, "ts_day", Some(1000)), lower)
    val specs = Vector(PartitionSpec(0, Vector(day)), PartitionSpec(1, Vector(id)))
    val complete = TableExpression.complete(specs, known, lastId = 105)
    assert(complete == known :+ TableExpression(108, Vector(1), Identity, "id", Some(1001)))
    assert(TableExpression.complete(specs, complete, lastId = 200) == complete)
  }

  test("partition fields of version 1 with the same id and different transforms get separate expressions") {
    val month = PartitionField(9, 1000, "ts_month", Month)
    val specs = Vector(PartitionSpec(0, Vector(day)), PartitionSpec(1, Vector(month)))
    assert(TableExpression.complete(specs, Vector.empty, lastId = 9).map(_.id) == Vector(10, 11))
  }
}

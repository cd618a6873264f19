package iceberglite.catalog.rest

import iceberglite.spec.IcebergError.{NotFound, StorageFailed}
import iceberglite.spec.{ObjectKind, Place}
import iceberglite.table.Environment

/** Authentication with AWS Signature Version 4, which uses the AWS SDK that `hadoop-aws` depends on. */
private[catalog] object SigV4 {
  private val Original = "Original-Authorization"

  /**
   * Creates the authentication.
   *
   * @param delegate additional authentication. Its header `Authorization` is renamed to `Original-Authorization`
   */
  def apply(settings: RestSettings, delegate: Auth, environment: Environment): Auth = {
    val signer =
      try new AwsSigner(settings, environment)
      catch {
        case _: LinkageError => throw NotFound(
            ObjectKind.Library,
            "the AWS SDK",
            s"${RestProperty.AuthType.key}=sigv4 of catalog ${settings.catalog} requires this library. Add the jars " +
              "of org.apache.hadoop:hadoop-aws:3.3.4 and com.amazonaws:aws-java-sdk-bundle:1.12.262 to the session"
          )
      }
    new SigV4Auth(signer, delegate, settings)
  }

  final private class SigV4Auth(signer: AwsSigner, delegate: Auth, settings: RestSettings) extends Auth {
    override def authenticate(call: HttpCall, tableToken: Option[String]): HttpCall = {
      val authenticated = delegate.authenticate(call, tableToken)
      val withOriginalHeader = authenticated.header(Auth.Authorization).fold(authenticated)(authorization =>
        authenticated.copy(headers = authenticated.headers.filterNot(_._1.equalsIgnoreCase(Auth.Authorization)))
          .set(Original, authorization)
      )
      try signer.sign(withOriginalHeader)
      catch {
        case e: RuntimeException =>
          val reason = s"AWS provides no credentials or no region (${e.getClass.getSimpleName}). Set " +
            s"${RestProperty.AccessKey.key}, ${RestProperty.SecretKey.key} and ${RestProperty.SigningRegion.key}"
          throw StorageFailed("sign a request to", Place.Server(RestSettings.redacted(settings.server)), reason)
      }
    }

    override def renew(rejected: HttpCall): Boolean = {
      val unsigned = rejected.copy(headers = rejected.headers.filterNot(_._1.equalsIgnoreCase(Auth.Authorization)))
      delegate.renew(rejected.header(Original).fold(unsigned)(unsigned.set(Auth.Authorization, _)))
    }
    override def secrets: Vector[String] = delegate.secrets
  }
}

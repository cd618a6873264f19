package iceberglite.catalog.rest

import java.io.ByteArrayInputStream
import java.net.URI
import java.util.Date

import scala.collection.JavaConverters._

import com.amazonaws.auth._
import com.amazonaws.http.HttpMethodName
import com.amazonaws.regions.DefaultAwsRegionProviderChain
import com.amazonaws.{DefaultRequest, SignableRequest}

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.table.Environment

/** Signs requests with AWS Signature Version 4. This is the only class of the package that uses the AWS SDK. */
final private[catalog] class AwsSigner(settings: RestSettings, environment: Environment) {
  import AwsSigner._

  private val credentials: AWSCredentialsProvider = {
    val pair = Seq(RestProperty.AccessKey, RestProperty.SecretKey)
    val keys = pair.flatMap(settings.text(_))
    if (keys.size == 1) throw InvalidArgument(
      s"${pair.map(_.key).mkString(" and ")} of catalog ${settings.catalog}",
      "only one is set",
      "Set both properties, or neither of them to use the credentials of the AWS environment"
    )
    keys match {
      case Seq(key, secret) => new AWSStaticCredentialsProvider(
          settings.text(RestProperty.SessionToken).fold[AWSCredentials](new BasicAWSCredentials(key, secret))(
            new BasicSessionCredentials(key, secret, _)
          )
        )
      case _ => DefaultAWSCredentialsProviderChain.getInstance
    }
  }

  private lazy val region =
    settings.text(RestProperty.SigningRegion).getOrElse(new DefaultAwsRegionProviderChain().getRegion)

  /** Signs a request. @throws RuntimeException if the SDK finds no credentials or no region */
  def sign(call: HttpCall): HttpCall = {
    val signer = new AWS4Signer
    signer.setServiceName(settings.text(RestProperty.SigningName).getOrElse(""))
    signer.setRegionName(region)
    signer.setOverrideDate(new Date(environment.nowMs()))
    val request = toSignable(call)
    signer.sign(request, credentials.getCredentials)
    // The HTTP client itself sets the Host header.
    request.getHeaders.asScala.filterNot(_._1.equalsIgnoreCase("Host")).foldLeft(call) { case (signed, (name, value)) =>
      signed.set(name, value)
    }
  }

  private def toSignable(call: HttpCall): SignableRequest[Unit] = {
    val request = new DefaultRequest[Unit](settings.text(RestProperty.SigningName).getOrElse(""))
    request.setHttpMethod(HttpMethodName.valueOf(call.method))
    request.setEndpoint(new URI(s"${call.uri.getScheme}://${call.uri.getRawAuthority}"))
    request.setResourcePath(call.uri.getRawPath)
    parameters(call.uri).foreach { case (name, value) => request.addParameter(name, value) }
    call.headers.foreach { case (name, value) => request.addHeader(name, value) }
    // With this header, the signer adds the hash of the body to the request, which servers expect.
    request.addHeader(ContentHash, "required")
    // The content must be set, because the signer would treat the parameters of a POST without content as its body.
    request.setContent(new ByteArrayInputStream(call.body.getOrElse(Array.emptyByteArray)))
    request
  }
}

private[catalog] object AwsSigner {
  private val ContentHash = "x-amz-content-sha256"

  private def parameters(uri: URI): Vector[(String, String)] =
    Option(uri.getRawQuery).toVector.flatMap(_.split('&')).filter(_.nonEmpty).map { pair =>
      val (name, value) = pair.span(_ != '=')
      (decode(name), decode(value.drop(1)))
    }

  private def decode(text: String): String = java.net.URLDecoder.decode(text, "UTF-8")
}
